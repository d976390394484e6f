import type { VoiceEvent } from '../port.ts'

type Role = 'user' | 'assistant'
type Line = Extract<VoiceEvent, { type: 'transcript' }>

/** Puts lines together from the pieces in which they come. */
export function createLines() {
  const open: Record<Role, string> = { user: '', assistant: '' }

  function end(role: Role): Line[] {
    const text = open[role].trim().toWellFormed()
    open[role] = ''
    return text === '' ? [] : [{ type: 'transcript', role, text, final: true }]
  }

  return {
    /** A piece of what `role` says. The person's line has ended when the answer to it begins. */
    heard(role: Role, piece: string, isFinished: boolean): Line[] {
      const before = role === 'assistant' ? end('user') : []
      // A database takes no U+0000, whatever a model says; half a character may be followed by its other half.
      open[role] += piece.replaceAll('\0', '')
      if (isFinished) return [...before, ...end(role)]
      const text = open[role].trim()
      return text === '' ? before : [...before, { type: 'transcript', role, text, final: false }]
    },
    end,
    /** The person's first: it came before its answer. */
    endAll: (): Line[] => [...end('user'), ...end('assistant')],
  }
}
