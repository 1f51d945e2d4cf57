"""Runs the benchmarks of `make bench`.

Compare the ratios, which are measured within one run. Seconds of different runs cannot be compared if other programs
use the machine.
"""

from . import all_methods, command_line, default_method, growth, iterations, listing_ratio, reading, report

listing_ratio.on_simulated_senti()
listing_ratio.on_paper()
default_method.on_paper()
default_method.on_six_million_labels()
all_methods.on_paper()
iterations.on_six_million_labels()
iterations.on_pico()
command_line.against_duckdb()
command_line.first_use()
reading.in_temporary_folder()
growth.of_memory()
growth.of_time()
report.of_many_labels()
report.of_many_workers()
