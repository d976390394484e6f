/** The called number, read from the message of the run: `Call to +15550123`. */
export function calledNumber(message: string | null): string {
  return /^Call to (\+\d+)/.exec(message ?? '')?.[1] ?? 'Call'
}
