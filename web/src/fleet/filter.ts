// The box for filters: user=ann host=node1* state=lost, and plain words, which stand for whatever contains them.

export interface Filter {
  asked: string[]; // as the API takes them
  plain: string[]; // the words among them that name nothing
}

/** What stands for any name that contains it. */
const kAny = "any";

/** Quotes keep blanks together: model="NVIDIA H100". */
export function parseFilter(text: string): Filter {
  const asked: string[] = [];
  const plain: string[] = [];
  for (const part of text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []) {
    const clean = part.replace(/"/g, "").trim();
    const sign = clean.indexOf("=");
    if (clean === "" || sign === clean.length - 1) continue; // not typed to its end
    if (sign > 0) {
      asked.push(clean);
    } else {
      plain.push(clean.replace(/^=/, ""));
      asked.push(`${kAny}=${clean.replace(/^=/, "")}`);
    }
  }
  return { asked, plain };
}

/** The text with this condition in place of those of the same word; the same one again takes it out. */
export function toggleFilter(text: string, word: string, value: string): string {
  const parts: string[] = text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
  const made = `${word}=${/\s/.test(value) ? `"${value}"` : value}`;
  const others = parts.filter((part) => !part.startsWith(`${word}=`));
  return (parts.includes(made) ? others : [...others, made]).join(" ");
}
