import type { ReactNode } from 'react'
import { Switch } from '../../ui/switch.tsx'

type SwitchRowProps = {
  label: string
  hint: ReactNode
  checked: boolean
  onCheckedChange(checked: boolean): void
  disabled?: boolean
}

/** One switch with an explanation. Applies immediately. */
export function SwitchRow({ label, hint, checked, onCheckedChange, disabled }: SwitchRowProps) {
  return (
    <div className="flex items-start justify-between gap-6">
      <div className="min-w-0">
        <p className="font-medium text-sm">{label}</p>
        <p className="mt-0.5 text-muted text-xs">{hint}</p>
      </div>
      <Switch label={label} checked={checked} onCheckedChange={onCheckedChange} disabled={disabled} />
    </div>
  )
}
