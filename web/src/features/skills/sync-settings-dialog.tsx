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

/** Automatic sync of sources and automatic delivery to agents. */
export function SyncSettingsDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      title="Automatic sync"
      description="Syncs the sources and updates the agents automatically."
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
        toast({ title: 'Automatic sync settings saved.', tone: 'success' })
        onDone()
      }}
    >
      <SwitchField
        name="auto_sync_enabled"
        label="Sync sources automatically"
        hint="Branches are updated. Tags stay at their commit."
      />
      <NumberField
        name="auto_sync_interval_seconds"
        label="Interval"
        unit="seconds"
        hint="300 to 86,400 seconds"
        min={300}
        max={86_400}
      />
      <SwitchField
        name="auto_reinject_enabled"
        label="Deliver changes automatically"
        hint="Agents with a skill get its new version after a sync."
      />
      {report && (
        <p className="text-muted text-xs">
          Last delivery: {report.updated.length} agents updated, {report.skipped.length} unchanged,{' '}
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
