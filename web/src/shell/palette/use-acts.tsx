import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { usePowerChange } from '../../features/agents/actions.ts'
import { DeleteAgentDialog } from '../../features/agents/delete-agent-dialog.tsx'
import { ForkDialog } from '../../features/agents/fork-button.tsx'
import { useFleetActions } from '../../features/schedules/fleet-actions.ts'
import { PauseAllDialog } from '../../features/schedules/pause-all.tsx'
import { toast } from '../../ui/toast.tsx'
import { requestPageHelp } from '../page-help.tsx'
import { chooseTheme } from '../theme.ts'
import { useSignOut } from '../use-sign-out.ts'
import { currentAgent } from './current-agent.ts'
import type { Act } from './entries.ts'

type Asking = { what: 'delete' | 'fork'; agent: string } | { what: 'pause' }

/** Runs commands with the mutations and questions of the pages. */
export function useActs() {
  const router = useRouter()
  const power = usePowerChange()
  const { pause } = useFleetActions()
  const signOut = useSignOut()
  const [asking, setAsking] = useState<Asking | null>(null)

  const act = (next: Act): void => {
    switch (next.do) {
      case 'go':
        router.history.push(next.href)
        break
      case 'apart':
        window.open(next.href, '_blank', 'noopener')
        break
      case 'start':
      case 'stop':
        toast({ title: `${next.do === 'start' ? 'Starting' : 'Stopping'} ${next.agent}…` })
        power.mutate({ name: next.agent, to: next.do })
        break
      case 'fork':
      case 'delete':
        setAsking({ what: next.do, agent: next.agent })
        break
      case 'pause-schedules':
        setAsking({ what: 'pause' })
        break
      case 'resume-schedules':
        pause.mutate('resume')
        break
      case 'theme':
        chooseTheme(next.theme)
        break
      case 'help':
        requestPageHelp()
        break
      case 'sign-out':
        signOut()
        break
    }
  }
  const close = () => setAsking(null)
  const questions = (
    <>
      {asking?.what === 'delete' && (
        <DeleteAgentDialog
          open
          name={asking.agent}
          onOpenChange={close}
          onDeleted={() => {
            close()
            if (currentAgent(router.history.location.pathname) === asking.agent) router.history.push('/')
          }}
        />
      )}
      {asking?.what === 'fork' && <ForkDialog open agentName={asking.agent} from={{}} onOpenChange={close} />}
      {asking?.what === 'pause' && <PauseAllDialog open pause={pause} onOpenChange={close} />}
    </>
  )
  return { act, questions }
}
