/**
 * A full sentence about a field. A message that starts in lower case, such as `must be at most 10`, is the rest of a
 * sentence that starts with the label; other messages are sentences already.
 */
export function fieldSentence(label: string, error: string): string {
  const isRest = /^\p{Ll}/u.test(error)
  const sentence = isRest ? `${label.replace(/[\s:?…]+$/, '')} ${error}` : error
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`
}
