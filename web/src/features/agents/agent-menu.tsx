import type { AgentDetails } from '@roost/contracts/agents/agent'
import { AgentName } from '@roost/contracts/kit/primitives'
import { useNavigate } from '@tanstack/react-router'
import { GitFork, Link2, MoreHorizontal, PenLine, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { z } from 'zod'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { Menu } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { useMediaQuery } from '../../ui/use-media-query.ts'
import { useAutonomy } from './actions.ts'
import { useRename } from './changes.ts'
import { DeleteAgentDialog } from './delete-agent-dialog.tsx'
import { ForkDialog, useMayFork } from './fork-button.tsx'

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
        <RenameForm agent={agent} onDone={() => setOpen(null)} />
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

const Rename = z.object({ new_name: AgentName })

function RenameForm({ agent, onDone }: { agent: AgentDetails; onDone: () => void }) {
  const navigate = useNavigate()
  const rename = useRename(agent.name)
  const form = useZodForm(Rename, { defaultValues: { new_name: agent.name } })
  return (
    <Form
      form={form}
      onSubmit={async ({ new_name }) => {
        if (new_name !== agent.name) await rename.mutateAsync(new_name)
        onDone()
        await navigate({ to: '/agents/$name', params: { name: new_name }, search: true, replace: true })
      }}
    >
      <FormError />
      <TextField name="new_name" label="New name" autoComplete="off" spellCheck={false} mono autoFocus />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Rename
        </Button>
      </div>
    </Form>
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
