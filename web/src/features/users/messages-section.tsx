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

/** How much time there is to read a message and to undo what it tells. */
export function MessagesSection() {
  const [time, setTime] = useState(chosenMessageTime)
  function choose(next: MessageTime): void {
    chooseMessageTime(next)
    setTime(next)
  }
  return (
    <Section
      title="Messages"
      description="How long there is time for Undo. Other messages stay in proportion. For this browser."
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
