import { Banner } from '../../ui/banner.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Switch } from '../../ui/switch.tsx'
import { type GitSwitch, useGitSwitch } from './actions.ts'
import type { GitConfig } from './repository-section.tsx'

const switches: { which: GitSwitch; label: string; hint: string; pushes?: true }[] = [
  {
    which: 'auto_sync_enabled',
    label: 'Push every 15 minutes',
    hint: 'Commits and pushes changes. A conflict counts as a failure and must be resolved manually.',
    pushes: true,
  },
  {
    which: 'pull_sync_enabled',
    label: 'Pull automatically',
    hint: 'Pulls remote commits while the workspace has no uncommitted changes.',
  },
  {
    which: 'freeze_schedules_if_sync_failing',
    label: 'Freeze schedules while syncs fail',
    hint: 'After three consecutive failures no schedule of the agent fires until a sync succeeds.',
  },
]

type SwitchesProps = { name: string; config: GitConfig; isOwner: boolean }

/** Switches of automatic git operations. */
export function SwitchesSection({ name, config, isOwner }: SwitchesProps) {
  const { mutate } = useGitSwitch(name)
  return (
    <Section title="Automation" description="Automatic git operations.">
      {config.source_mode && (
        <Banner tone="info" title="Source mode">
          No token has write access to the repository. The agent works on {config.source_branch} and never
          pushes.
        </Banner>
      )}
      {switches.map(({ which, label, hint, pushes }) => (
        <Field key={which} label={label} hint={hint} layout="row">
          <Switch
            checked={config[which]}
            disabled={!isOwner || (pushes === true && config.source_mode)}
            onCheckedChange={(enabled) => mutate({ which, enabled })}
          />
        </Field>
      ))}
    </Section>
  )
}
