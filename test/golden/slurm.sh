# Shards as a Slurm array, on a Slurm of our own: munged, slurmctld and three slurmd on this machine, all in this folder, with
# keys, sockets and ports of their own and no rights of root. A task is killed in the middle: it is named by gather, run again
# alone, and the result is that of one run.
for p in munged slurmctld slurmd sbatch; do
  PATH=$PATH:/usr/sbin command -v $p >/dev/null || { echo "skipped: an array of a real Slurm: no $p here (apt-get install slurm-wlm munge)"; exit; }
done
PATH=$PATH:/usr/sbin
D=$PWD me=$(id -un) host=$(hostname -s) port=$(( 20000 + $$ % 10000 ))
export SLURM_CONF=$D/slurm.conf
finish() {
  for f in *.pid; do [ -s "$f" ] && kill "$(cat "$f" 2>/dev/null)" 2>/dev/null; done
  for i in 1 2 3 4 5 6 7 8 9 10; do
    alive=0
    for f in *.pid; do [ -s "$f" ] && kill -0 "$(cat "$f" 2>/dev/null)" 2>/dev/null && alive=1; done
    [ $alive = 0 ] && break
    sleep 0.5
  done
}
trap finish EXIT
chmod 711 . # munged asks that all may reach its socket
mkdir ctl spool.n0 spool.n1 spool.n2
cat >slurm.conf <<END
ClusterName=tuner
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$D/munge.sock
CredType=cred/munge
SlurmctldPort=$port
SlurmctldPidFile=$D/ctl.pid
SlurmctldLogFile=$D/ctl.log
SlurmdPidFile=$D/%n.pid
SlurmdLogFile=$D/%n.log
SlurmdSpoolDir=$D/spool.%n
StateSaveLocation=$D/ctl
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
KillWait=2
NodeName=n[0-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 3))] CPUs=1 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
head -c 1024 /dev/urandom >munge.key; chmod 600 munge.key
if ! munged --key-file="$D/munge.key" --socket="$D/munge.sock" --pid-file="$D/munged.pid" --log-file="$D/munged.log" \
  --seed-file="$D/munge.seed" >why 2>&1; then echo "skipped: munged does not start here: $(tail -1 why)"; exit; fi
slurmctld -f slurm.conf -c >why 2>&1 || { echo "skipped: slurmctld does not start here: $(tail -1 why)"; exit; }
for n in n0 n1 n2; do
  slurmd -f slurm.conf -N $n >why 2>&1 || { echo "skipped: slurmd does not start here: $(tail -1 why)"; exit; }
done
up=0
for i in $(seq 1 100); do
  [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 3 ] && { up=1; break; }
  sleep 0.2
done
[ $up = 1 ] || { echo "skipped: the nodes of a Slurm of our own do not come up: $(tail -1 ctl.log)"; exit; }

# The queue is empty before 60 seconds are over.
drained() {
  for i in $(seq 1 300); do [ -z "$(squeue -h 2>/dev/null)" ] && return; sleep 0.2; done
  echo "the queue does not empty:"; squeue
}
# Task 1 waits in the middle of its measuring while 'hold' is there.
cat >client <<SH
#!/bin/sh
case "\$*" in *--plan-file*) if [ "\$SLURM_ARRAY_TASK_ID" = 1 ] && [ -e $D/hold ]; then
  : >$D/held; while [ -e $D/hold ]; do sleep 0.1; done; fi;;
esac
exec "$BIN/tuner-client" "\$@"
SH
chmod +x client
export TUNER="$BIN/tuner" TUNER_SIM="arch=x86-64-v3;spread=0;noise=0;words=0.2"
"$TUNER" "$DATA/run/sim.yaml" whole >/dev/null 2>&1; echo "whole run: exit $?"
"$TUNER" shard "$DATA/run/sim.yaml" S --shards 4; echo "shard: exit $?"
echo "--- an array of 4 tasks; task 1 is killed in the middle"
: >hold
sbatch --parsable --array=0-3 -o "$D/task.%a.log" "$ROOT/scripts/slurm.sbatch" "$D/S" --client-path "$D/client" >/dev/null
for i in $(seq 1 300); do [ -e held ] && break; sleep 0.2; done
"$TUNER" status S | sed -n 's/^ *1  running.*/shard 1 is running/p'
kill -9 "$(cat S/shard_0001/tuning.lock)"; rm -f hold
drained
"$TUNER" status S | sed 's/ on .*//; s/  */ /g'
"$TUNER" gather S >log 2>&1; echo "gather: exit $?"; grep '^tuner:' log
echo "--- it is run again alone"
sbatch --parsable --array=1 -o "$D/task.%a.log" "$ROOT/scripts/slurm.sbatch" "$D/S" >/dev/null
drained
grep -c '^shard 1 on' task.1.log
"$TUNER" gather S >log 2>&1; echo "gather: exit $?"; grep '^tuner:' log
for d in 2_BenchmarkData 3_LibraryLogic; do diff -r whole/$d S/gathered/$d >/dev/null && echo "$d: as of one run" || echo "$d: differs"; done
"$TUNER" diff whole S/gathered | tail -1
