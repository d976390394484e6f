import type { Clock } from '../../kit/clock.ts'
import type { VoiceTool } from '../../ports/voice/port.ts'
import type { MediaLine, VoiceOutput } from './sound.ts'

export const hangUpTool: VoiceTool = {
  name: 'hang_up',
  description: 'End the call. Say goodbye first.',
  parameters: { type: 'object', properties: {} },
}

/** Maximum time to say goodbye, and then to play it. */
const goodbyeSeconds = 10
const playbackSeconds = 15
const mark = 'goodbye'

/** Hangs up on the voice's request, after its goodbye has been played. */
export function createHangUp({
  clock,
  output,
  media,
  signal,
  leave,
}: {
  clock: Pick<Clock, 'wait'>
  output: Pick<VoiceOutput, 'mark'>
  media: Pick<MediaLine, 'onMark'>
  signal: AbortSignal
  leave(): void
}) {
  let state: 'talking' | 'saying goodbye' | 'playing it' = 'talking'
  media.onMark((name) => {
    if (name === mark) leave()
  })

  function goodbyeSaid(): void {
    if (state !== 'saying goodbye') return
    state = 'playing it'
    output.mark(mark)
    void clock.wait(playbackSeconds * 1000, signal).then(leave)
  }

  return {
    begin(): void {
      if (state !== 'talking') return
      state = 'saying goodbye'
      void clock.wait(goodbyeSeconds * 1000, signal).then(goodbyeSaid)
    },
    turnComplete: goodbyeSaid,
  }
}
