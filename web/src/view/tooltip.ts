import { element } from './dom';

export class Tooltip {
  private readonly root = element('div', { class: 'tooltip', role: 'tooltip' });

  show(text: string, x: number, y: number): void {
    if (!this.root.isConnected) document.body.append(this.root);
    this.root.textContent = text;
    this.root.classList.add('shown');
    const { offsetWidth, offsetHeight } = this.root;
    this.root.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - offsetWidth - 8))}px`;
    this.root.style.top = `${y + 18 + offsetHeight > innerHeight ? y - offsetHeight - 10 : y + 18}px`;
  }

  hide(): void {
    this.root.classList.remove('shown');
  }
}
