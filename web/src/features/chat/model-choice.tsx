import type { Runtime } from '@roost/contracts/agents/agent'
import { parseModelOverride } from '@roost/contracts/kit/model'
import { Combobox } from '../../ui/combobox.tsx'

export type ModelChoiceProps = {
  runtime: Runtime
  /** The agent's model when none is chosen; null: the runtime's default. */
  agentModel: string | null
  value: string | null
  onValueChange: (model: string | null) => void
  /** `quiet`: inline text beside a message field; `field`: a form control. */
  look?: 'quiet' | 'field'
}

/** The model of the next message: a suggested one, or any ID of a known model family. */
export function ModelChoice(props: ModelChoiceProps) {
  const { runtime, agentModel, value, onValueChange, look = 'quiet' } = props
  const usual = usualModels[runtime].map((model) => ({ value: model, label: model }))
  return (
    <Combobox
      {...(look === 'quiet' ? { label: 'Model of the next message' } : {})}
      value={value}
      onValueChange={onValueChange}
      options={usual}
      placeholder={agentModel ?? 'Default model'}
      searchPlaceholder="Select a model or enter its ID"
      empty="No model of a known family."
      typed={(text) => parseModelOverride(text) ?? null}
      clearable
      className={
        look === 'quiet'
          ? 'max-w-44 border-transparent! bg-transparent! text-xs! shadow-none! hover:bg-hover!'
          : 'w-full'
      }
    />
  )
}

const usualModels: Record<Runtime, readonly string[]> = {
  'claude-code': ['sonnet', 'opus', 'haiku'],
  'gemini-cli': ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite'],
  codex: ['gpt-5.1-codex', 'gpt-5.1', 'gpt-5-mini'],
}
