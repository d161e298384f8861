"""All published experiments on one page: every table and figure of the documents, and what became
of it here.

| module | has |
|---|---|
| `catalogue` | the tables and figures of the documents (`experiments/documents.json`) |
| `runs` | the experiments, run once or several times, with the noise of the machine beside them |
| `verdict` | how near ours are to what is published |
| `drawings` | distributions and schedules of ours, drawn |
| `page`, `document` | the results, for people and for scripts |

Nobody writes a verdict by hand: it follows from the rows of the experiments.
"""
