import { CreateSkillSource, type SkillSource } from '@roost/contracts/skills/sources'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, NumberField, SelectField, TextField, useZodForm } from '../../ui/form.tsx'
import { useSaveSource } from './source-actions.ts'

type SourceDialogProps = {
  editing: SkillSource | 'new' | null
  onClose: () => void
  /** Called when the source is new or tracks another ref, so that it must be synced. */
  onUnsynced: (source: SkillSource) => void
}

export function SourceDialog({ editing, onClose, onUnsynced }: SourceDialogProps) {
  return (
    <Dialog
      open={editing !== null}
      onOpenChange={onClose}
      title={editing === 'new' ? 'Add skill source' : 'Edit source'}
      description="A repository at the git host. Each folder with a SKILL.md file is one skill."
    >
      {editing !== null && (
        <SourceForm
          stored={editing === 'new' ? null : editing}
          onDone={(saved) => {
            onClose()
            if (saved.last_sync_status === 'never') onUnsynced(saved)
          }}
          onCancel={onClose}
        />
      )}
    </Dialog>
  )
}

const refTypes = [
  { value: 'branch', label: 'Branch', hint: 'Each sync gets the latest commit' },
  { value: 'tag', label: 'Tag', hint: 'Stays at one commit. A moved tag is refused.' },
]

type SourceFormProps = {
  stored: SkillSource | null
  onDone: (saved: SkillSource) => void
  onCancel: () => void
}

function SourceForm({ stored, onDone, onCancel }: SourceFormProps) {
  const save = useSaveSource(stored)
  const form = useZodForm(CreateSkillSource, {
    defaultValues: {
      name: stored?.name ?? '',
      url: stored?.url ?? '',
      ref: stored?.ref ?? 'main',
      ref_type: stored?.ref_type ?? 'branch',
      enabled: stored?.enabled ?? true,
      priority: stored?.priority ?? 100,
    },
  })
  return (
    <Form form={form} label="Skill source" onSubmit={async (fields) => onDone(await save(fields))}>
      <TextField name="name" label="Name" hint="Shown beside its skills" required autoFocus />
      <TextField
        name="url"
        label="Repository"
        mono
        required
        placeholder="https://github.com/owner/repository"
        disabled={stored?.is_default === true}
        spellCheck={false}
        autoComplete="off"
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          name="ref_type"
          label="Track"
          options={refTypes}
          disabled={stored?.is_default === true}
        />
        <TextField
          name="ref"
          label="Branch or tag"
          mono
          required
          disabled={stored?.is_default === true}
          spellCheck={false}
        />
      </div>
      <NumberField
        name="priority"
        label="Priority"
        hint="For skills of the same name, the lower number wins. 1 to 10000; the community source has 1000."
        min={1}
        max={10_000}
        required
      />
      <FormError />
      <DialogButtons>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          {stored === null ? 'Add and sync' : 'Save'}
        </Button>
      </DialogButtons>
    </Form>
  )
}
