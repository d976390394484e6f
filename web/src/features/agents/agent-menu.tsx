import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useNavigate } from '@tanstack/react-router'
import { GitFork, Link2, MoreHorizontal, PenLine, Trash2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Menu } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { useMediaQuery } from '../../ui/use-media-query.ts'
import { useAutonomy } from './actions.ts'
import { DeleteAgentDialog } from './delete-agent-dialog.tsx'
import { ForkDialog, useMayFork } from './fork-button.tsx'

/** Forms have large libraries, which the page of an agent does not need otherwise. */
const RenameForm = lazyPart(async () => (await import('./rename-form.tsx')).RenameForm)

/** Rarely used actions. */
export function AgentMenu({ agent, mayEdit }: { agent: AgentDetails; mayEdit: boolean }) {
  const [open, setOpen] = useState<'rename' | 'fork' | 'delete' | null>(null)
  const close = (isOpen: boolean) => !isOpen && setOpen(null)
  const navigate = useNavigate()
  const autonomy = useAutonomy(agent.name)
  const mayFork = useMayFork(agent) && !agent.is_system
  // The switch in the header has no room there.
  const isPhone = useMediaQuery('(max-width: 40rem)')
  return (
    <>
      <Menu
        trigger={
          <IconButton variant="secondary" label="More actions" icon={<MoreHorizontal aria-hidden />} />
        }
        items={[
          isPhone &&
            mayEdit && {
              label: 'Autonomy',
              checked: agent.autonomy_enabled,
              onSelect: () => autonomy.mutate(!agent.autonomy_enabled),
            },
          { label: 'Copy link', icon: <Link2 aria-hidden />, onSelect: () => void copyLink(agent.name) },
          mayEdit &&
            !agent.is_system && {
              label: 'Rename',
              icon: <PenLine aria-hidden />,
              onSelect: () => setOpen('rename'),
            },
          mayFork && {
            label: 'Fork…',
            icon: <GitFork aria-hidden />,
            onSelect: () => setOpen('fork'),
          },
          agent.can_delete && 'separator',
          agent.can_delete && {
            label: 'Delete',
            icon: <Trash2 aria-hidden />,
            danger: true,
            onSelect: () => setOpen('delete'),
          },
        ]}
      />
      <Dialog
        open={open === 'rename'}
        onOpenChange={close}
        size="sm"
        title={`Rename ${agent.name}`}
        description="Files, schedules and history are kept. A running agent restarts under the new name."
      >
        <Suspense fallback={null}>
          <RenameForm agent={agent} onDone={() => setOpen(null)} />
        </Suspense>
      </Dialog>
      <ForkDialog agentName={agent.name} from={{}} open={open === 'fork'} onOpenChange={close} />
      <DeleteAgentDialog
        name={agent.name}
        open={open === 'delete'}
        onOpenChange={close}
        onDeleted={() => void navigate({ to: '/agents', search: {} })}
      />
    </>
  )
}

async function copyLink(name: string): Promise<void> {
  const url = `${location.origin}/agents/${name}`
  try {
    await navigator.clipboard.writeText(url)
    toast({ title: 'Link copied.', tone: 'success' })
  } catch {
    // The clipboard needs a secure origin; show the address to copy it by hand.
    toast({
      title: 'The browser did not allow copying. Copy the link manually.',
      description: url,
      tone: 'warning',
    })
  }
}
