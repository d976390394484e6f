/** For how long messages stand, so that who reads or moves slowly still reaches Undo. Kept by the browser. */
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

/** Milliseconds of a message that usually stands for `seconds`. */
export function messageMs(seconds: number): number {
  return seconds * 1000 * factors[chosenMessageTime()]
}

/** For how long something can be undone, in ms: as long as the message with its Undo stands. */
export function undoMs(): number {
  return messageMs(undoSeconds)
}

/** Seconds that remain for Undo with each choice. */
export function undoSecondsOf(time: MessageTime): number {
  return undoSeconds * factors[time]
}
