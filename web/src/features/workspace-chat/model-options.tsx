import { Combobox } from '../../ui/combobox.tsx'

export type ModelOption = { id: string; label: string }

type ModelOptionsProps = {
  options: readonly ModelOption[]
  /** Null: the agent's model. */
  value: string | null
  onValueChange: (model: string | null) => void
}

/** The model of the next message, from the platform's list; renders nothing without a list. */
export function ModelOptions({ options, value, onValueChange }: ModelOptionsProps) {
  if (options.length === 0) return null
  return (
    <Combobox
      label="Model of the next message"
      value={value}
      onValueChange={onValueChange}
      options={options.map(({ id, label }) => ({ value: id, label }))}
      placeholder="Default model"
      searchPlaceholder="Select a model"
      clearable
      className="max-w-44 border-transparent! bg-transparent! text-xs! shadow-none! hover:bg-hover!"
    />
  )
}
