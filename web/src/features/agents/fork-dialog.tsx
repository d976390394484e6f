import { ForkAgent, forkAgent } from '@roost/contracts/agents/forks'
import type { CreatedAgent } from '@roost/contracts/agents/registry'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import { atField } from '../../lib/at-field.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, SwitchField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from './queries.ts'

/** The record to fork from; empty for now. */
export type ForkOf = Partial<Pick<z.output<typeof ForkAgent>, 'record' | 'run' | 'side'>>

export type ForkDialogProps = {
  agentName: string
  from: ForkOf
  /** When the workspace was as in the fork, such as `before this run`; left out for now. */
  point?: string
  open: boolean
  onOpenChange: (open: boolean) => void
}

export function ForkDialog({ agentName, from, point, open, onOpenChange }: ForkDialogProps) {
  const navigate = useNavigate()
  const [made, setMade] = useState<Made | null>(null)

  async function enter({ name }: Made): Promise<void> {
    onOpenChange(false)
    await navigate({ to: '/agents/$name', params: { name }, search: { tab: 'chat' } })
  }

  async function finish(fork: Made): Promise<void> {
    if (fork.warnings.length > 0) return setMade(fork)
    toast({ title: `${fork.name} is running.`, tone: 'success' })
    await enter(fork)
  }

  if (made)
    return (
      <Dialog
        open={open}
        onOpenChange={onOpenChange}
        title={`${made.name} is running`}
        description={`It differs from ${agentName}.`}
      >
        <ul
          aria-label="Differences"
          className="list-disc space-y-1 pb-4 pl-5 text-sm [overflow-wrap:anywhere]"
        >
          {made.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
        <DialogButtons>
          <Button onClick={() => onOpenChange(false)}>Stay here</Button>
          <Button variant="primary" autoFocus onClick={() => void enter(made)}>
            Open {made.name}
          </Button>
        </DialogButtons>
      </Dialog>
    )
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Fork ${agentName}${point === undefined ? '' : ` from ${point}`}`}
      description={
        <>
          A new agent with the same files, settings and skills. Conversations, shares and keys stay behind.{' '}
          <a
            href="/help/how-to/fork"
            target="_blank"
            rel="noreferrer"
            className="text-accent underline underline-offset-2"
          >
            Guide: Fork an agent
          </a>
        </>
      }
    >
      <ForkForm agentName={agentName} from={from} onMade={finish} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

type Made = Pick<CreatedAgent, 'name' | 'warnings'>

const Fork = ForkAgent.pick({ name: true, with_schedules: true, with_credentials: true })
const fieldOfCode = { agent_exists: 'name', reserved_agent_name: 'name' }

type FormProps = Pick<ForkDialogProps, 'agentName' | 'from'> & {
  onMade: (fork: Made) => Promise<void>
  onClose: () => void
}

function ForkForm({ agentName, from, onMade, onClose }: FormProps) {
  const { api, queries } = useApp()
  const form = useZodForm(Fork, {
    defaultValues: { name: '', with_schedules: false, with_credentials: false },
  })

  async function fork(fields: z.output<typeof Fork>): Promise<void> {
    const body = { ...from, ...fields }
    const created = await api
      .call(forkAgent, { params: { name: agentName }, body })
      .catch((error: unknown) => {
        throw atField(error, fieldOfCode)
      })
    await queries.invalidateQueries({ queryKey: agentKeys.list })
    await onMade(created)
  }

  return (
    <Form form={form} onSubmit={fork}>
      <FormError />
      <TextField
        name="name"
        label="Name of the fork"
        placeholder={`${agentName}-2`}
        required
        autoFocus
        autoComplete="off"
        spellCheck={false}
      />
      <SwitchField
        name="with_schedules"
        label="Copy schedules"
        hint="With event subscriptions. They are disabled in the fork."
      />
      <SwitchField
        name="with_credentials"
        label="Copy credentials"
        hint="Credential files of the workspace, and bound credentials"
      />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Create fork
        </Button>
      </DialogButtons>
    </Form>
  )
}
