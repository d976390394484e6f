import type { Values } from './values.ts'

/** The imported price table as text. The runs area parses it. */
export type ModelPriceSettings = {
  /** `text` is empty and `updatedAt` null while no table is imported. */
  stored(): { text: string; updatedAt: string | null }
  put(text: string): Promise<void>
  remove(): Promise<void>
}

const key = 'model_prices'

export function createModelPriceSettings(values: Values): ModelPriceSettings {
  return {
    stored() {
      const row = values.row(key)
      return { text: row?.value ?? '', updatedAt: row?.updated_at ?? null }
    },
    put: (text) => values.write({ [key]: text }),
    async remove() {
      await values.remove([key])
    },
  }
}
