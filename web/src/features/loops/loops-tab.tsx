import type { AgentDetails } from '@roost/contracts/agents/agent'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { LoopDialog } from './loop-dialog.tsx'
import { LoopList } from './loop-list.tsx'
import { LoopPanel } from './loop-panel.tsx'

const route = getRouteApi('/signed-in/agents/$name')

/** All loops of the agent, or the one in the address. */
export function LoopsTab({ agent }: { agent: AgentDetails }) {
  const { loop } = route.useSearch()
  const navigate = route.useNavigate()
  const [isStarting, setStarting] = useState(false)
  const open = (id: string) => void navigate({ search: { tab: 'loops', loop: id } })
  return (
    <>
      {loop === undefined ? (
        <LoopList agent={agent} onOpen={open} onStart={() => setStarting(true)} />
      ) : (
        <LoopPanel key={loop} name={agent.name} id={loop} />
      )}
      <LoopDialog
        agent={agent}
        isOpen={isStarting}
        onClose={() => setStarting(false)}
        onStarted={(id) => {
          setStarting(false)
          open(id)
        }}
      />
    </>
  )
}
