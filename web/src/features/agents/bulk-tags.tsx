import { Tag } from '@roost/contracts/agents/agent'
import { addAgentTag, removeAgentTag } from '@roost/contracts/agents/tags'
import { useMutation } from '@tanstack/react-query'
import { Tags } from 'lucide-react'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { toast } from '../../ui/toast.tsx'
import type { FleetRow } from './fleet-rows.ts'
import { agentKeys } from './queries.ts'

/** Actions for the selected agents; renders nothing without a selection. */
export function BulkTags({ agents, onDone }: { agents: readonly FleetRow[]; onDone(): void }) {
  const [isOpen, setOpen] = useState(false)
  if (agents.length === 0) return null
  return (
    <div className="flex items-center gap-3 rounded-lg border border-line bg-accent-soft px-3 py-1.5 text-sm">
      <span>{plural(agents.length, 'agent')} selected</span>
      <Button size="sm" icon={<Tags />} onClick={() => setOpen(true)}>
        Edit tags
      </Button>
      <Button size="sm" variant="ghost" onClick={onDone}>
        Clear selection
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen} title={`Tags of ${plural(agents.length, 'agent')}`}>
        <BulkTagsForm
          agents={agents}
          onDone={() => {
            setOpen(false)
            onDone()
          }}
        />
      </Dialog>
    </div>
  )
}

function BulkTagsForm({ agents, onDone }: { agents: readonly FleetRow[]; onDone(): void }) {
  const { api, queries } = useApp()
  const [added, setAdded] = useState<string[]>([])
  const [removed, setRemoved] = useState<string[]>([])
  const save = useMutation({
    mutationFn: async () => {
      const calls = agents.flatMap(({ name }) => [
        ...added.map((tag) => api.call(addAgentTag, { params: { name, tag } })),
        ...removed.map((tag) => api.call(removeAgentTag, { params: { name, tag } })),
      ])
      const results = await Promise.allSettled(calls)
      const refused = results.filter((result) => result.status === 'rejected')
      if (refused.length > 0) {
        const { sentence } = describeFault(refused[0]?.reason)
        throw new Error(`${refused.length} of ${plural(results.length, 'tag change')} failed. ${sentence}`)
      }
    },
    onSuccess: () => {
      toast({ title: `Tags of ${plural(agents.length, 'agent')} saved.`, tone: 'success' })
      onDone()
    },
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
    onSettled: () => queries.invalidateQueries({ queryKey: agentKeys.list }),
  })
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Field label="Tags to add" hint="Lower-case letters, digits and hyphens">
        <TagInput value={added} onValueChange={setAdded} accept={acceptTag} />
      </Field>
      <Field label="Tags to remove">
        <TagInput value={removed} onValueChange={setRemoved} accept={acceptTag} />
      </Field>
      <div className="flex justify-end">
        <Button
          type="submit"
          variant="primary"
          pending={save.isPending}
          disabled={added.length + removed.length === 0}
        >
          Save tags
        </Button>
      </div>
    </form>
  )
}

function acceptTag(text: string): string | null {
  return Tag.safeParse(text).data ?? null
}
