"""Runs the benchmarks of `make bench`.

Compare the ratios, which are measured within one run. Seconds of different runs cannot be compared if other programs
use the machine.
"""

from . import all_methods, command_line, growth, listing_ratio, report

listing_ratio.on_simulated_senti()
listing_ratio.on_paper()
all_methods.on_paper()
command_line.against_duckdb()
command_line.on_small_file()
command_line.first_run()
growth.of_memory()
growth.of_time()
report.of_many_labels()
report.of_many_workers()
