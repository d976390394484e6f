import { useEffect, useEffectEvent, useState } from 'react'
import { useApp } from '../../shell/app-context.ts'

/** Follows the shown agent: calls `onRenamed` with its new name, and returns whether it was deleted. */
export function useAgentChanges(name: string, onRenamed: (newName: string) => void): { isDeleted: boolean } {
  const { live } = useApp()
  const [deleted, setDeleted] = useState<string | null>(null)
  const follow = useEffectEvent(onRenamed)
  useEffect(
    () =>
      live.onEvent((event) => {
        const { type, data } = event
        if (type === 'agent_renamed' && event.old_name === name && typeof event.new_name === 'string') {
          follow(event.new_name)
        }
        const named = typeof data === 'object' && data !== null && 'name' in data ? data.name : null
        if (type === 'agent_deleted' && (named ?? event.agent_name) === name) setDeleted(name)
        // The name of a deleted agent can be used again.
        if (type === 'agent_created' && named === name) setDeleted(null)
      }),
    [live, name],
  )
  return { isDeleted: deleted === name }
}
