import type { Clock } from '../../kit/clock.ts'
import type { VoiceTool } from '../../ports/voice/port.ts'
import type { Line, Mouth } from './sound.ts'

export const hangUpTool: VoiceTool = {
  name: 'hang_up',
  description: 'End the call. Say goodbye first.',
  parameters: { type: 'object', properties: {} },
}

/** The goodbye is said within this time, and played within this time. */
const goodbyeSeconds = 10
const playedSeconds = 15
const mark = 'goodbye'

/** The voice hangs up: what it has said by then is played first. */
export function createHangUp({
  clock,
  mouth,
  line,
  signal,
  leave,
}: {
  clock: Pick<Clock, 'wait'>
  mouth: Pick<Mouth, 'mark'>
  line: Pick<Line, 'onMark'>
  signal: AbortSignal
  leave(): void
}) {
  let state: 'talking' | 'saying goodbye' | 'playing it' = 'talking'
  line.onMark((name) => {
    if (name === mark) leave()
  })

  function said(): void {
    if (state !== 'saying goodbye') return
    state = 'playing it'
    mouth.mark(mark)
    void clock.wait(playedSeconds * 1000, signal).then(leave)
  }

  return {
    begin(): void {
      if (state !== 'talking') return
      state = 'saying goodbye'
      void clock.wait(goodbyeSeconds * 1000, signal).then(said)
    },
    turnComplete: said,
  }
}
