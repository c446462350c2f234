# What `tuner` says about itself.
"$BIN/tuner" --help
"$BIN/tuner" --version
"$BIN/tuner" --help-params | head -5
