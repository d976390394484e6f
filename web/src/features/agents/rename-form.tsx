import type { AgentDetails } from '@roost/contracts/agents/agent'
import { AgentName } from '@roost/contracts/kit/primitives'
import { useNavigate } from '@tanstack/react-router'
import { z } from 'zod'
import { Button } from '../../ui/button.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { useRename } from './changes.ts'

const Rename = z.object({ new_name: AgentName })

export function RenameForm({ agent, onDone }: { agent: AgentDetails; onDone: () => void }) {
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
