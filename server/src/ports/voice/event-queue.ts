import type { VoiceEvent } from './port.ts'

/** Events that wait before their source is held. */
const fullAt = 256
const lowAt = 64

/** What happens, kept in order until its one reader takes it; tells its source when there is too much. */
export function createEventQueue(source: { hold(): void; release(): void }) {
  let waiting: VoiceEvent[] = []
  let arrived = Promise.withResolvers<void>()
  let isHeld = false
  let isEnded = false

  function push(...events: VoiceEvent[]): void {
    if (isEnded) return
    waiting.push(...events)
    if (events.some(({ type }) => type === 'closed')) isEnded = true
    if (!isHeld && waiting.length >= fullAt) {
      isHeld = true
      source.hold()
    }
    arrived.resolve()
  }

  function took(): void {
    if (!isHeld || waiting.length > lowAt) return
    isHeld = false
    source.release()
  }

  async function* read(): AsyncGenerator<VoiceEvent, void, undefined> {
    for (;;) {
      const event = waiting.shift()
      if (!event) {
        arrived = Promise.withResolvers()
        await arrived.promise
        continue
      }
      took()
      yield event
      if (event.type === 'closed') return
    }
  }

  return {
    push,
    isHeld: () => isHeld,
    /** Audio that nobody has taken is not played any more. */
    dropAudio() {
      waiting = waiting.filter(({ type }) => type !== 'audio')
      took()
    },
    events: read(),
  }
}
