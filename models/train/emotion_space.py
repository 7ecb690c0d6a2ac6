"""How near emotions lie in the encoder's space: lexicons/emotion_space.toml.

Run: ``python -m models.train.emotion_space > models/lexicons/emotion_space.toml``. Each emotion is the mean query vector of a
few sentences that say it, in Chinese and English; nearness is their cosine, stretched so that the farthest pair is 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from models.encoder import Encoder
from models.records import EMOTIONS

SENTENCES: dict[str, tuple[str, ...]] = {
    "calm": ("I feel calm and fine.", "It is all right, nothing special.", "我很平静。", "没什么特别的，一切正常。"),
    "joy": ("I am so happy!", "This makes me really glad.", "我太开心了！", "真高兴。"),
    "gratitude": ("Thank you so much, I am grateful.", "I really appreciate it.", "非常感谢你。", "太感激了。"),
    "surprise": ("I am surprised, I did not expect that.", "Wow, really?", "真没想到，太意外了。", "哇，真的吗？"),
    "sadness": ("I am so sad.", "I feel like crying.", "我很难过。", "我伤心得想哭。"),
    "disappointment": ("I am very disappointed.", "I expected better than this.", "我太失望了。", "没想到这么让人失望。"),
    "fear": ("I am afraid.", "I am worried and scared.", "我很害怕。", "我好担心，很不安。"),
    "anger": ("I am angry about this.", "This makes me furious!", "我很生气。", "气死我了！"),
    "frustration": (
        "I am so frustrated, it still does not work.", "This is annoying, the same problem again.",
        "真让人烦躁，怎么还是不行。", "太烦了，又是同样的问题。",
    ),
    "disgust": ("That is disgusting.", "I find it revolting.", "真恶心。", "太让人反感了。"),
}  # fmt: skip


def nearness(encoder: Encoder) -> npt.NDArray[np.float64]:
    """Nearness 0..1 of the emotions in the order of EMOTIONS, float[10, 10], symmetric, 1 on the diagonal."""
    means = np.stack([np.mean([e.query for e in encoder.encode(SENTENCES[name])], axis=0) for name in EMOTIONS])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    cosines = (means @ means.T).astype(np.float64)
    lowest = cosines.min()
    return np.clip((cosines - lowest) / (1.0 - lowest), 0.0, 1.0)


def main() -> None:
    """Prints the table."""
    table = nearness(Encoder.load())
    print(
        "# How near two emotions lie, 0..1 (1 = the same). Made by models.train.emotion_space from the encoder's vectors of"
    )
    print("# sentences that say each emotion, in Chinese and English; read by models.cues.cue_score.")
    for name, row in zip(EMOTIONS, table, strict=True):
        print(f"\n[nearness.{name}]")
        for other, value in zip(EMOTIONS, row, strict=True):
            print(f"{other} = {value:.2f}")


if __name__ == "__main__":
    main()
