import { Bird, Plus } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'

/** Shown by a new installation. `onCreate` is null for users who may not create agents. */
export function NoAgents({ onCreate }: { onCreate: (() => void) | null }) {
  return (
    <EmptyState
      icon={<Bird />}
      title="No agents yet"
      description={
        onCreate
          ? 'An agent is a container with its own workspace and a coding CLI. Create an agent, then chat with it.'
          : 'No agent is shared with you yet. Ask an owner to share an agent with your e-mail address.'
      }
      action={
        onCreate ? (
          <Button variant="primary" icon={<Plus />} onClick={onCreate}>
            Create your first agent
          </Button>
        ) : undefined
      }
    />
  )
}

/** Shown when no agent matches the filter. */
export function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <EmptyState
      title="No matching agents"
      description="Try other search words, another status or fewer tags."
      action={<Button onClick={onClear}>Clear filters</Button>}
    />
  )
}
