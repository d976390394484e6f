/** How long messages stay, so that slow readers can still reach Undo. Stored in the browser. */
export const messageTimes = ['usual', 'longer', 'longest'] as const
export type MessageTime = (typeof messageTimes)[number]

const storageKey = 'roost.messages'
const factors: Record<MessageTime, number> = { usual: 1, longer: 3, longest: 12 }
const undoSeconds = 10

export function chosenMessageTime(): MessageTime {
  const stored = localStorage.getItem(storageKey)
  return messageTimes.find((time) => time === stored) ?? 'usual'
}

export function chooseMessageTime(time: MessageTime): void {
  localStorage.setItem(storageKey, time)
}

/** Display time in milliseconds of a message whose default is `seconds`. */
export function messageMs(seconds: number): number {
  return seconds * 1000 * factors[chosenMessageTime()]
}

/** How long an action can be undone, in milliseconds. Equals the display time of its message. */
export function undoMs(): number {
  return messageMs(undoSeconds)
}

/** Seconds available for Undo with each choice. */
export function undoSecondsOf(time: MessageTime): number {
  return undoSeconds * factors[time]
}
