import { memo, Suspense } from 'react'
import { FormattedText } from './formatted-text.tsx'
import { lazyPart } from './lazy-part.tsx'

/** One block of Markdown. The code for formulas loads with the first text that may have one. */
export const FormattedBlock = memo(function FormattedBlock({ source }: { source: string }) {
  if (!mayHaveFormula(source)) return <FormattedText source={source} />
  return (
    <Suspense fallback={<FormattedText source={source} />}>
      <FormulaText source={source} />
    </Suspense>
  )
})

const mayHaveFormula = (source: string) => /\$|\\[([]/.test(source)

const FormulaText = lazyPart<{ source: string }>(
  async () => (await import('./formula-text.tsx')).FormulaText,
  FormattedText,
)
