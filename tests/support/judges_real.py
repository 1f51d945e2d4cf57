"""Make real logs by the tools' own code, without a network. Run by test_judges_real.py in another environment.

The environment needs inspect-ai, deepeval and lm-eval (which needs torch). Usage: `python judges_real.py TOOL FOLDER`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

ITEMS = 6
# How each judge grades the answers to six questions.
GRADES = {"ann": "CCCIIC", "bob": "CCIIIC", "cat": "CICIIC"}


def make_inspect(folder: Path) -> None:
    """Have three models grade the answers of a fourth, two of them as one panel; then another one grades them later."""
    from inspect_ai import Task, eval, score
    from inspect_ai.dataset import Sample
    from inspect_ai.log import write_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import f1, includes, mean, model_graded_qa, scorer

    def model(name: str, texts: list[str]) -> Any:
        outputs = [ModelOutput.from_content(f"mockllm/{name}", text) for text in texts]
        for output in outputs:  # else they are counted by a library that wants a network
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return get_model(f"mockllm/{name}", custom_outputs=outputs)

    def judge(name: str) -> Any:
        return model(name, [f"GRADE: {grade}" for grade in GRADES[name]])

    @scorer(metrics=[mean()])  # type: ignore[untyped-decorator]  # its types are not here
    def unscored() -> Any:
        from inspect_ai.scorer import Score

        async def give(state: Any, target: Any) -> Score:
            return Score(value=float("nan"))

        return give

    task = Task(
        name="trivia",
        dataset=[Sample(id=number, input=f"question {number}", target="yes") for number in range(1, ITEMS + 1)],
        scorer=[
            model_graded_qa(model=judge("ann")),
            model_graded_qa(model=[judge("bob"), judge("cat")]),
            includes(),
            f1(),
            unscored(),
        ],
    )
    (log,) = eval(
        task,
        model=model("solver", ["yes maybe"] * ITEMS),
        log_dir=str(folder / "logs"),
        display="none",
        max_samples=1,
    )
    later = score(log, model_graded_qa(model=judge("bob")), action="overwrite", display="none")
    write_eval_log(later, str(folder / "later" / "later.eval"))
    write_eval_log(log, str(folder / "json" / "log.json"))


def make_deepeval(folder: Path) -> None:
    """Have three models judge test cases by one metric."""
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": str(folder)}
    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
    from deepeval.metrics import GEval
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    class Judge(DeepEvalBaseLLM):  # type: ignore[misc]  # its types are not here
        def __init__(self, name: str) -> None:
            super().__init__()
            self.judge, self.grades = name, iter(GRADES[name])

        def load_model(self) -> Any:
            return self

        def generate(self, prompt: str, schema: Any = None) -> str:
            return json.dumps({"score": 9 if next(self.grades) == "C" else 2, "reason": "..."})

        async def a_generate(self, prompt: str, schema: Any = None) -> str:
            return self.generate(prompt)

        def get_model_name(self) -> str:
            return self.judge

    asked = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]
    metrics = [
        GEval(name="good", evaluation_params=asked, evaluation_steps=["look"], model=Judge(name)) for name in GRADES
    ]
    cases = [LLMTestCase(input=f"question {number}", actual_output="yes") for number in range(ITEMS)]
    evaluate(
        cases,
        metrics,
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        async_config=AsyncConfig(run_async=False),
    )


def make_lm_eval(folder: Path) -> None:
    """Have the dummy model of the harness answer a task of choices and a task of texts."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    tasks = folder / "tasks"
    tasks.mkdir()
    rows = [{"q": f"is {number} even?", "a": number % 2, "t": ["yes", "no"][number % 2]} for number in range(ITEMS)]
    (tasks / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    common = f"dataset_path: json\ndataset_kwargs: {{data_files: {{test: {tasks}/rows.jsonl}}}}\ntest_split: test\n"
    common += 'doc_to_text: "{{q}}"\ndoc_to_target: "{{t}}"\n'
    choice = (
        'task: tiny_choice\noutput_type: multiple_choice\ndoc_to_choice: ["yes", "no"]\nmetric_list: [{metric: acc}]\n'
    )
    text = "task: tiny_text\noutput_type: generate_until\ngeneration_kwargs: {until: [x]}\n"
    text += "metric_list: [{metric: exact_match}]\nfilter_list:\n  - {name: first, filter: [{function: take_first}]}\n"
    text += '  - {name: digits, filter: [{function: regex, regex_pattern: "(\\\\d)"}, {function: take_first}]}\n'
    (tasks / "choice.yaml").write_text(choice + common)
    (tasks / "text.yaml").write_text(text + common)
    from lm_eval.__main__ import cli_evaluate

    sys.argv = ["lm_eval", "--model", "dummy", "--include_path", str(tasks), "--tasks", "tiny_choice,tiny_text"]
    sys.argv += ["--output_path", str(folder / "out"), "--log_samples"]
    cli_evaluate()


if __name__ == "__main__":
    {"inspect": make_inspect, "deepeval": make_deepeval, "lm-eval": make_lm_eval}[sys.argv[1]](Path(sys.argv[2]))
