import type { AgentDetails } from '@roost/contracts/agents/agent'
import { MessageSquareText } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'

const suggestions = [
  'What can you do for me?',
  'Look around your workspace and tell me what is there.',
  'What did you work on last?',
]

/** Before the first message. */
export function ChatWelcome({
  agent,
  onSuggest,
}: {
  agent: AgentDetails
  onSuggest: (text: string) => void
}) {
  return (
    <EmptyState
      icon={<MessageSquareText aria-hidden />}
      title={`Talk with ${agent.label ?? agent.name}`}
      description="It answers here, step by step. It can work with files you attach, and goes on when you leave the page."
      action={suggestions.map((text) => (
        <Button key={text} size="sm" className="font-normal" onClick={() => onSuggest(text)}>
          {text}
        </Button>
      ))}
    />
  )
}
