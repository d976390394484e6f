/** The first non-empty line of a text, shortened for a row or a title. */
export function firstLine(text: string | null, most = 200): string {
  const line = (text ?? '').split('\n').find((each) => each.trim() !== '')
  const words = line?.trim().replace(/^#+\s+/, '') ?? ''
  if (words === '') return 'No message'
  return words.length > most ? `${words.slice(0, most).toWellFormed()}…` : words
}

/** The heading of a run's page. A message as short as this is not shown again below. */
export function titleOf(message: string | null): string {
  return firstLine(message, 140)
}
