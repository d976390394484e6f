import { demoMessages } from '@roost/contracts/operations/demo'
import type { Directive } from './directives.ts'
import { defuse, firstCharacters } from './plan.ts'

/** Home of an agent in its container. */
const home = '/home/developer'
const refundTitle = 'Refund 340 EUR to customer 4711?'

/** Returns what the demo does for a text with a line that it knows; empty for any other text. */
export function demoDirectives(text: string): readonly Directive[] {
  const lines = new Set(text.split(/\r\n|\n|\r/).map((line) => line.trim()))
  return answers.find(({ message }) => lines.has(message))?.directives ?? []
}

/** The answer of the demo to a message that it does not know. */
export function demoGreeting(text: string): string {
  const received = firstCharacters(defuse(text).replace(/\s+/g, ' ').trim(), 200)
  return [
    'Hello! I am the scripted model of the Roost demo. I cannot think, so I cannot answer this:',
    '',
    `> ${received}`,
    '',
    'Everything around me is real: the agent, its container, its files and its tools. Send one of these messages to see it work:',
    '',
    ...Object.values(demoMessages).map((message) => `- ${message}`),
    '',
    'The tutorial shows how to make me run any command. For real answers, add a model key and restart without `--demo`.',
  ].join('\n')
}

const ticketTable = [
  'id,customer,topic,state',
  '101,4711,Refund,open',
  '102,4802,Login,open',
  '103,4711,Delivery,closed',
  '104,5120,Login,open',
  '105,4990,Invoice,open',
  '',
].join('\n')

const ticketReport = [
  '# Open tickets',
  '',
  '| topic | open |',
  '|---|---|',
  '| Login | 2 |',
  '| Invoice | 1 |',
  '| Refund | 1 |',
  '',
  'Login problems are the most frequent topic.',
  '',
].join('\n')

const priceCode =
  'export function total(prices) {\n  return Math.floor(prices.reduce((sum, each) => sum + each, 0))\n}\n'

const refundRequest = {
  requests: [
    {
      // Unique for all time: the shell inserts the seconds.
      id: 'demo-refund-$(date +%s)',
      type: 'approval',
      title: refundTitle,
      question:
        'The customer returned the goods within 14 days. The limit for refunds without approval is 200 EUR.',
      options: ['approve', 'refuse'],
      priority: 'high',
      context: { customer: 4711, amount_eur: 340 },
    },
  ],
}

/** Commands work again when a later run has the same message: files of an earlier one are replaced. */
const answers: readonly { message: string; directives: readonly Directive[] }[] = [
  {
    message: demoMessages.summarizeTickets,
    directives: [
      usage(9_400, 310),
      bash(`rm -f report.md && cat > tickets.csv <<'END'\n${ticketTable}END`, 'Export the tickets'),
      usage(11_200, 140),
      bash("grep ',open' tickets.csv | cut -d, -f3 | sort | uniq -c", 'Count the open tickets by topic'),
      usage(12_050, 420),
      write('report.md', ticketReport),
      usage(12_900, 160),
      reply(
        'Four tickets are open: two about the login, one about an invoice and one about a refund. The summary is in `report.md`.',
      ),
    ],
  },
  {
    message: demoMessages.askRefund,
    directives: [
      usage(8_700, 260),
      bash(
        [
          'mkdir -p .roost',
          `cat > .roost/request.part <<END\n${JSON.stringify(refundRequest, null, 2)}\nEND`,
          'mv .roost/request.part .roost/operator-queue.json',
        ].join('\n'),
        'Ask in the inbox',
      ),
      usage(9_600, 90),
      reply('The amount is above my limit of 200 EUR. I asked for an approval in the inbox.'),
    ],
  },
  {
    message: refundTitle,
    directives: [
      usage(9_900, 60),
      reply('Thank you. I recorded the decision about the refund for customer 4711.'),
    ],
  },
  {
    message: demoMessages.fixRounding,
    directives: [
      usage(10_300, 220),
      bash(
        [
          `rm -rf ${home}/shop && git init -q ${home}/shop`,
          `cat > ${home}/shop/price.js <<'END'\n${priceCode}END`,
          `git -C ${home}/shop add .`,
          `git -C ${home}/shop -c user.name=demo -c user.email=demo@example.com commit -m 'Add the price calculation'`,
        ].join('\n'),
        'Prepare the repository',
      ),
      usage(11_700, 70),
      { name: 'tool', tool: 'Read', input: { file_path: `${home}/shop/price.js` } },
      usage(12_300, 240),
      {
        name: 'tool',
        tool: 'Edit',
        input: {
          file_path: `${home}/shop/price.js`,
          old_string: '  return Math.floor(prices.reduce((sum, each) => sum + each, 0))',
          new_string:
            '  const cents = prices.reduce((sum, each) => sum + Math.round(each * 100), 0)\n  return cents / 100',
        },
      },
      usage(12_900, 80),
      bash(`git -C ${home}/shop diff`, 'Show the diff'),
      usage(13_800, 190),
      reply(
        'The total was rounded down to whole euros. It is now added up in cents. The diff is above; I did not commit it.',
      ),
    ],
  },
  {
    message: demoMessages.deploy,
    directives: [
      usage(8_100, 110),
      bash(
        'test -f deploy.sh || { echo "deploy.sh: no such file" >&2; exit 1; }',
        'Look for the deploy script',
      ),
      { name: 'fail', status: 400 },
    ],
  },
  {
    message: demoMessages.digest,
    directives: [
      usage(7_200, 180),
      bash('rm -f digest.md && date -u +%F', 'Start a new digest'),
      usage(7_900, 210),
      write('digest.md', '# Digest\n\n- 42 orders, 3 more than yesterday\n- 4 open tickets\n- No outages\n'),
      usage(8_400, 120),
      reply('42 orders, 4 open tickets and no outages. The digest is in `digest.md`.'),
    ],
  },
]

function usage(input: number, output: number): Directive {
  return { name: 'usage', input, output }
}

function write(file: string, content: string): Directive {
  return { name: 'tool', tool: 'Write', input: { file_path: `${home}/${file}`, content } }
}

function bash(command: string, description: string): Directive {
  return { name: 'tool', tool: 'Bash', input: { command, description } }
}

function reply(text: string): Directive {
  return { name: 'reply', text }
}
