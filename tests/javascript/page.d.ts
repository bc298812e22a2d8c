// What the scripts of the pages share, for the checker of types; the scripts themselves say the rest in comments.

type Unit = "text" | "percent" | "points" | "number" | "count";
type Share = number | null;
/** ``[value, low, high, n]``; ends and n are null where they are not known. */
type EstimateCell = [number, Share?, Share?, (number | null)?];
type TableCell = EstimateCell | string | number | null | undefined;

interface TableColumn {
  title: string;
  unit: Unit;
  about?: string;
  better?: "high" | "low" | "";
  digits?: number;
  least?: number;
  bar?: boolean;
  hidden?: boolean;
}

interface PageNumbers {
  written(value: number, column: { unit: Unit; digits?: number; least?: number }): string;
  digitsFor(unit: Unit, largest: number): number;
  number(value: Share | undefined, digits: number): string;
  percent(share: Share | undefined): string;
  points(difference: Share | undefined): string;
  count(value: number | null | undefined): string;
  interval(low: Share | undefined, high: Share | undefined, write: (value: number) => string): string;
  estimate(numbers: EstimateCell): string;
}

interface PageRows {
  compare(a: string, b: string): number;
  valueOf(cell: TableCell): string | number | null | undefined;
  hasInterval(cell: TableCell): cell is [number, number, number, (number | null)?];
  digitsOf(column: TableColumn, cells: TableCell[]): number;
  endsOf(column: TableColumn, cells: TableCell[]): [number, number] | null;
  roomOf(column: TableColumn, cells: TableCell[]): number;
  order(rows: TableCell[][], place: number, descending: boolean): number[];
  orderWords(column: TableColumn, descending: boolean): string;
  csvOf(titles: string[], rows: TableCell[][]): string;
}

interface PageMarks {
  tinted(hex: string, opacity: number): string;
  sizeFor(n: number): number;
  opacityFor(n: number): number;
  sizeOf(symbol: string, size: number): number;
  bars(values: number[], lows: Share[], highs: Share[], colour: string): object;
  alongBars(point: { x: number; y: number }, ends: Share[]): { x: number; y: number }[];
}

interface PageTheme {
  dark: boolean;
  ink: string;
  soft: string;
  paper: string;
  grid: string;
  accent: string;
  font: string;
}

interface Page {
  draw: Record<string, (element: HTMLElement, data: any) => void>;
  dataIn(element: Element | null): any;
  looks: Record<string, { colour: string; dark: string; symbol: string }>;
  look(category: string | undefined): { colour: string; symbol: string };
  theme: PageTheme;
  plot(element: HTMLElement, traces: object[], layout: object): Promise<unknown>;
  make(tag: string, attributes?: Record<string, unknown>, ...children: (Node | string)[]): any;
  mark(category: string): SVGElement;
  spaced(category: string): string;
  numbers: PageNumbers;
  rows: PageRows;
  tableTools: { toolsOf(living: any): HTMLElement; meanings(columns: TableColumn[]): HTMLElement[] };
  table(element: HTMLElement, columns: TableColumn[], rows: TableCell[][], options: object): object;
  cue(wide: HTMLElement): void;
  current(tops: number[], line: number, end: { reached: boolean; wanted: number | null }): number;
  marks: PageMarks;
  /** The parts of single plots. */
  [part: string]: any;
}

interface Window {
  oodometer: Page;
  Plotly: any;
}
