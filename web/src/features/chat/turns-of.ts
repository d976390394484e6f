import type { ChatMessage } from '@roost/contracts/conversations/chat'

/** A question and what came of it, as far as the stored messages tell. */
export type Turn = {
  /** The execution's id; of a message that belongs to none, its own. */
  key: string
  executionId: string | null
  question: ChatMessage | null
  answer: ChatMessage | null
}

/**
 * Messages, oldest first, as turns in the order of their first message: a turn that waits in the queue is
 * asked before the one ahead of it is answered.
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

/** Asked, and neither answered nor ended without an answer: it runs or waits. */
export function isOpen({ executionId, question, answer }: Turn): boolean {
  return executionId !== null && question !== null && answer === null && question.error_code === null
}
