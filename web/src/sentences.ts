// What comes from the server as a part of a sentence, made a whole one.

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Some end by themselves. */
export const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
