import type { AttemptSet } from '@roost/contracts/runs/attempts'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/class-names.ts'
import { Cost } from '../../ui/cost.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { Duration } from '../../ui/time.tsx'
import { attemptWords, changesText, checkWord } from './words.ts'

const columns = ['Attempt', 'Runtime', 'State', 'Check', 'Cost', 'Duration', 'Steps', 'Changed files']

/** One row for each attempt; a row is chosen by its first cell. */
export function AttemptTable({
  set,
  chosen,
  onChoose,
}: {
  set: AttemptSet
  chosen: number
  onChoose: (number: number) => void
}) {
  return (
    <ScrollRegion
      label="Comparison of the attempts"
      className="overflow-x-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full min-w-max text-sm">
        <thead>
          <tr className="border-line border-b text-left text-muted text-xs">
            {columns.map((column) => (
              <th key={column} scope="col" className="px-3 py-2 font-medium">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {set.attempts.map((attempt) => {
            const state = attemptWords[attempt.status]
            const check = checkWord(attempt)
            const isChosen = attempt.number === chosen
            return (
              <tr key={attempt.number} className={cx(isChosen && 'bg-hover')}>
                <th scope="row" className="px-3 py-1 text-left font-normal">
                  <button
                    type="button"
                    aria-pressed={isChosen}
                    onClick={() => onChoose(attempt.number)}
                    className="min-h-8 rounded-md px-1 font-medium text-accent underline"
                  >
                    Attempt {attempt.number}
                  </button>
                  {set.kept === attempt.number && (
                    <Badge tone="success" className="ml-2">
                      Kept
                    </Badge>
                  )}
                </th>
                <td className="px-3 py-1">
                  {attempt.runtime}
                  {attempt.model !== null && <span className="text-muted"> {attempt.model}</span>}
                </td>
                <td className="px-3 py-1">
                  <Badge tone={state.tone}>{state.word}</Badge>
                </td>
                <td className="px-3 py-1">{check && <Badge tone={check.tone}>{check.word}</Badge>}</td>
                <td className="px-3 py-1">
                  <Cost usd={attempt.cost} isEstimated={attempt.cost_estimated} />
                </td>
                <td className="px-3 py-1">
                  <Duration ms={attempt.duration_ms} />
                </td>
                <td data-numeric className="px-3 py-1">
                  {attempt.steps}
                </td>
                <td className="px-3 py-1">{changesText(attempt)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
