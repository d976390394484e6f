import { useState } from 'react'
import {
  chooseMessageTime,
  chosenMessageTime,
  type MessageTime,
  messageTimes,
  undoSecondsOf,
} from '../../ui/message-time.ts'
import { Section } from '../../ui/section.tsx'
import { Segmented } from '../../ui/segmented.tsx'

/** How long messages and their Undo stay. */
export function MessagesSection() {
  const [time, setTime] = useState(chosenMessageTime)
  function choose(next: MessageTime): void {
    chooseMessageTime(next)
    setTime(next)
  }
  return (
    <Section
      title="Toast messages"
      description="How long messages with Undo stay. Other messages scale accordingly. Applies to this browser."
    >
      <Segmented
        label="Time for Undo"
        options={messageTimes.map((value) => ({ value, label: `${undoSecondsOf(value)} s` }))}
        value={time}
        onValueChange={choose}
      />
    </Section>
  )
}
