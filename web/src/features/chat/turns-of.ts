import type { ChatMessage } from '@roost/contracts/conversations/chat'

/** A question and its answer, from the stored messages. */
export type Turn = {
  /** The execution ID; for a message without a run, its own ID. */
  key: string
  executionId: string | null
  question: ChatMessage | null
  answer: ChatMessage | null
}

/**
 * Groups messages, oldest first, into turns in the order of their first message: a queued question can
 * precede an earlier question's answer.
 */
export function turnsOf(messages: readonly ChatMessage[]): Turn[] {
  const turns: Turn[] = []
  const places = new Map<string, number>()
  for (const message of messages) {
    const { execution_id: executionId, role } = message
    const part = role === 'user' ? 'question' : 'answer'
    const place = executionId === null ? undefined : places.get(executionId)
    const present = place === undefined ? undefined : turns[place]
    if (place !== undefined && present && present[part] === null) {
      turns[place] = { ...present, [part]: message }
      continue
    }
    if (executionId !== null && !places.has(executionId)) places.set(executionId, turns.length)
    const isFirst = executionId !== null && place === undefined
    turns.push({
      key: isFirst ? executionId : message.id,
      executionId,
      question: null,
      answer: null,
      [part]: message,
    })
  }
  return turns
}

/** True while the run is running or queued: there is no answer and no error yet. */
export function isOpen({ executionId, question, answer }: Turn): boolean {
  return executionId !== null && question !== null && answer === null && question.error_code === null
}
