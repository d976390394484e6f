import { putSkillsLibrarySettings, SkillsLibrarySettings } from '@roost/contracts/skills/library'
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, FormError, NumberField, SwitchField, useZodForm } from '../../ui/form.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { skillKeys, syncSettingsQuery } from './queries.ts'

/** What is done without anybody asking: reading sources, and bringing agents up to date. */
export function SyncSettingsDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      title="Automatic sync"
      description="Sources are read anew, and agents brought up to date, without anybody asking."
    >
      {isOpen && <Settings onDone={onClose} />}
    </Dialog>
  )
}

function Settings({ onDone }: { onDone: () => void }) {
  const settings = useQuery(syncSettingsQuery(useApi()))
  if (settings.data) return <SettingsForm stored={settings.data} onDone={onDone} />
  if (!settings.error) return <Skeleton className="h-48" />
  return <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
}

type Stored = z.output<typeof SkillsLibrarySettings> & {
  last_fleet_report: { updated: string[]; skipped: string[]; failed: string[] } | null
}

function SettingsForm({ stored, onDone }: { stored: Stored; onDone: () => void }) {
  const { api, queries } = useApp()
  const { last_fleet_report: report, ...defaultValues } = stored
  const form = useZodForm(SkillsLibrarySettings, { defaultValues })
  return (
    <Form
      form={form}
      onSubmit={async (body) => {
        await api.call(putSkillsLibrarySettings, { body })
        await queries.invalidateQueries({ queryKey: skillKeys.all })
        toast({ title: 'Saved.', tone: 'success' })
        onDone()
      }}
    >
      <SwitchField
        name="auto_sync_enabled"
        label="Sync sources by themselves"
        hint="Tags stay where they are; branches bring what is new."
      />
      <NumberField
        name="auto_sync_interval_seconds"
        label="Every"
        unit="seconds"
        hint="300 to 86,400"
        min={300}
        max={86_400}
      />
      <SwitchField
        name="auto_reinject_enabled"
        label="Deliver changes to agents"
        hint="Agents that have a skill get its new version after a sync."
      />
      {report && (
        <p className="text-muted text-xs">
          The last time, {report.updated.length} agents were updated, {report.skipped.length} left alone,{' '}
          {report.failed.length} failed{report.failed.length > 0 && `: ${report.failed.join(', ')}`}.
        </p>
      )}
      <FormError />
      <DialogButtons>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Save
        </Button>
      </DialogButtons>
    </Form>
  )
}
