"""The page on which an expert decides items one by one, and sees what each decision is worth.

`review` starts it. log.py writes the decisions, plan.py and queue.py choose the next item, fits.py refits the method in
the background, panel.py and reveal.py say what the page shows, desk.py joins them, and server.py is the web server.
"""
