# tuner traffic: the published counts of work-group orders on MI300X and H200, the picture, bad input.
PATH=$BIN:$PATH
row() { tuner traffic --part MI300X --size "$1" --order "$3" --dim 0 | awk -v title="$2" '$1 == title { print $7 "/" $8, $9, "LLC", $12, "blocks", $13 }'; }
echo "8 x 8 tiles, 8 chunks of K: blocks of die 0"
for order in 8 1,8 2,8 4,8 8,8; do
  tuner traffic --part MI300X --size 1024,2048,512 --order $order | awk -v o=$order '$1 == "--order" { print o ": " $13 }'
done
for size in 2048,2048,2048 4096,4096,4096 4864,4096,4160 4864,8192,4160 16384,4096,8192; do
  tuner traffic --part MI300X --size $size | sed -n 2p
  echo "default:               $(row $size default 1)"
  echo "dim 0, 8, 8 dies:      $(row $size --order 8,8)"
  echo "dim 0, 8, no dies:     $(row $size --order 8)"
  echo "dim 0, 8, groups:      $(row $size --order 8,8,304)"
  tuner traffic --part MI300X --size $size |
    awk '$1 == 1 && $3 == 8 && $4 == 0 && (!least || $8 < least) { least = $8; w = $2 } END { print "dim 1, 8 dies, least:  wgm " w ", " least }'
done
for size in 8192,8192,8192 16384,4096,8192 16384,16384,1024; do
  for w in 1 8; do
    tuner traffic --part H200 --type b --size $size --order $w --dim 1 | awk -v w=$w -v s=$size '$1 == "--order" { print "H200 " s ", " w ": " $12 ", from memory " $14 }'
  done
done
echo "== all of it"
tuner traffic --part MI300X --tile 128x256x64 --type h --size 1024,2048,512 --svg grid.svg
grep -c '<rect' grid.svg
sed -n '/default/p; /chosen/p' grid.svg
grep -A 3 'chosen' grid.svg
echo "== bad input"
tuner traffic --part MI300X; echo "exit $?"
tuner traffic --part MI301X --size 1,1,1; echo "exit $?"
tuner traffic --part MI300X --size 4096,4096; echo "exit $?"
tuner traffic --part MI300X --size 4096,0,1; echo "exit $?"
tuner traffic --part MI300X --size 4096,4096,4096 --tile 128x256; echo "exit $?"
tuner traffic --part MI300X --size 4096,4096,4096 --type q; echo "exit $?"
tuner traffic --part MI300X --size 4096,4096,4096 --order 0; echo "exit $?"
tuner traffic --part MI300X --size 4096,4096,4096 --order 8,8,12; echo "exit $?"
tuner traffic --part MI300X --size 4096,4096,4096 --order 8,8,16,4; echo "exit $?"
tuner traffic --part MI300X --size 999999,999999,8 --svg big.svg; echo "exit $?"
tuner traffic --part MI300X --size 4096,4096,4096 --svg no/such/folder.svg; echo "exit $?"
