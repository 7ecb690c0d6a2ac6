"""All figures of the repository in one run, with their ratios."""

from __future__ import annotations

from bench import offline, worker


def main() -> None:
    """Prints each figure as it is known."""
    alone = offline.run()
    print("offline, one process, recall off")
    for name, value in alone.items():
        print(f"  {name:28s} {value:10.2f}")
    print("ms an utterance by stage, recall on")
    for name, value in offline.profile().items():
        print(f"  {name:28s} {value:10.3f}")
    live = worker.run()
    print("one worker, embedded broker, all stages, recall on")
    for name, value in live.items():
        print(f"  {name:28s} {value:10.2f}")
    print(f"ratio offline / worker         {alone['utterances_per_s'] / live['utterances/s, one worker']:10.2f}")


if __name__ == "__main__":
    main()
