"""Speed and memory as ratios against a baseline of the same run. `./dev bench [NAME ...]`."""
