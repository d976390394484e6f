import { type AgentDetails, maxTags, Tag } from '@roost/contracts/agents/agent'
import { Plus, Tags } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { useTags } from './changes.ts'

/** More tags would displace the rest of the header. */
const shownTags = 4

export function AgentTags({ agent, mayEdit }: { agent: AgentDetails; mayEdit: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const more = agent.tags.length - shownTags
  const words = (
    <>
      {agent.tags.slice(0, shownTags).map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
      {more > 0 && <Badge>{`+${more}`}</Badge>}
    </>
  )
  // Hidden on phones for lack of space.
  if (!mayEdit) return <span className="flex flex-wrap gap-1 max-sm:hidden">{words}</span>
  return (
    <Popover
      label="Tags"
      open={isOpen}
      onOpenChange={setOpen}
      className="w-80"
      trigger={
        <button
          type="button"
          className="-ml-1 inline-flex min-h-6 flex-wrap items-center gap-1 rounded-sm px-1 text-xs text-muted hover:bg-hover hover:text-ink max-sm:hidden [&_svg]:size-3"
        >
          {agent.tags.length === 0 && <Tags aria-hidden />}
          <span className={agent.tags.length > 0 ? 'sr-only' : undefined}>
            {agent.tags.length > 0 ? 'Edit tags:' : 'Add tags'}
          </span>
          {words}
          {agent.tags.length > 0 && <Plus aria-hidden />}
        </button>
      }
    >
      <TagsForm agent={agent} onDone={() => setOpen(false)} />
    </Popover>
  )
}

function TagsForm({ agent, onDone }: { agent: AgentDetails; onDone: () => void }) {
  const save = useTags(agent.name)
  const [tags, setTags] = useState(agent.tags)
  return (
    <div className="flex flex-col gap-3">
      <Field
        label="Tags"
        hint={`Letters, digits and hyphens, at most ${maxTags} tags. Press Enter or comma to add a tag.`}
        error={tags.length > maxTags ? `The agent can have at most ${maxTags} tags.` : null}
      >
        <TagInput value={tags} onValueChange={setTags} accept={acceptedTag} placeholder="team-sales" />
      </Field>
      <div className="flex justify-end gap-2">
        <Button size="sm" onClick={onDone}>
          Cancel
        </Button>
        <Button
          size="sm"
          variant="primary"
          disabled={tags.length > maxTags}
          onClick={() => {
            save.mutate(tags)
            onDone()
          }}
        >
          Save
        </Button>
      </div>
    </div>
  )
}

function acceptedTag(text: string): string | null {
  const checked = Tag.safeParse(text)
  return checked.success ? checked.data : null
}
