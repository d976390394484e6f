import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { GitFork } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { meQuery } from '../users/queries.ts'
import type { ForkDialogProps } from './fork-dialog.tsx'
import { agentQuery } from './queries.ts'

const LazyForkDialog = lazyPart(async () => (await import('./fork-dialog.tsx')).ForkDialog)

/** Loaded when it is opened for the first time. */
export function ForkDialog(props: ForkDialogProps) {
  if (!props.open) return null
  return (
    <Suspense fallback={null}>
      <LazyForkDialog {...props} />
    </Suspense>
  )
}

/** A fork belongs to its creator, whose role must allow creating agents. */
export function useMayFork(agent: Pick<AgentDetails, 'is_owner' | 'can_delete'> | undefined): boolean {
  const { data: me } = useQuery(meQuery(useApi()))
  const mayCreate = me?.role === 'admin' || me?.role === 'creator'
  return mayCreate && agent !== undefined && (agent.is_owner || agent.can_delete)
}

type ForkButtonProps = Pick<ForkDialogProps, 'agentName' | 'from' | 'point'> & { label: string }

/** Opens the dialog. Renders nothing for users who may not fork the agent. */
export function ForkButton({ label, ...rest }: ForkButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const { data: agent } = useQuery(agentQuery(useApi(), rest.agentName))
  if (!useMayFork(agent) || agent?.is_system) return null
  return (
    <>
      <Button size="sm" className="w-fit" icon={<GitFork aria-hidden />} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <ForkDialog {...rest} open={isOpen} onOpenChange={setOpen} />
    </>
  )
}
