import type { VoiceEvent } from '../port.ts'

type Role = 'user' | 'assistant'
type Line = Extract<VoiceEvent, { type: 'transcript' }>

/** Assembles transcript lines from pieces. */
export function createLines() {
  const open: Record<Role, string> = { user: '', assistant: '' }

  function end(role: Role): Line[] {
    const text = open[role].trim().toWellFormed()
    open[role] = ''
    return text === '' ? [] : [{ type: 'transcript', role, text, final: true }]
  }

  return {
    /** Adds a piece of a role's text. The person's line ends when the answer starts. */
    add(role: Role, piece: string, isFinished: boolean): Line[] {
      const before = role === 'assistant' ? end('user') : []
      // Removes U+0000, which databases reject. A lone surrogate may be completed by the next piece.
      open[role] += piece.replaceAll('\0', '')
      if (isFinished) return [...before, ...end(role)]
      const text = open[role].trim()
      return text === '' ? before : [...before, { type: 'transcript', role, text, final: false }]
    },
    end,
    /** The person's line comes first, because it preceded the answer. */
    endAll: (): Line[] => [...end('user'), ...end('assistant')],
  }
}
