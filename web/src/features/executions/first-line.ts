/** The first line of a text that says something, cut to what a row or a title can hold. */
export function firstLine(text: string | null, most = 200): string {
  const line = (text ?? '').split('\n').find((each) => each.trim() !== '')
  const words = line?.trim().replace(/^#+\s+/, '') ?? ''
  if (words === '') return 'No message'
  return words.length > most ? `${words.slice(0, most).toWellFormed()}…` : words
}

/** What a run's page is headed with; a message as short as this needs no second place there. */
export function titleOf(message: string | null): string {
  return firstLine(message, 140)
}
